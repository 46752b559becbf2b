# A helper function that decides place by place with torch.where.


# answer: ex2-dlogits
def pull_and_push(scores, labels):
    p = torch.exp(F.log_softmax(scores, dim=1))
    is_label = torch.arange(scores.shape[1]) == labels[:, None]
    return torch.where(is_label, p - 1, p) / len(labels)


dlogits = pull_and_push(logits, Yb)
