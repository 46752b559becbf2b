from corpus.readers.attacks import corpus
from docs.building.attacks import attack_table, suspicion_table
from grader.answer.suspicion import SENTENCES


def test_every_attack_stands_below_its_family() -> None:
    text = attack_table()
    for attack in corpus():
        assert f"`{attack.family}`: " in text
        assert " ".join(attack.tries.split()).replace("|", "\\|") in text
    assert text.count("\n| ") == len(corpus()) + 2 * len({a.family for a in corpus()})


def test_every_suspicion_is_listed() -> None:
    assert all(f"| `{kind}` | {text} |" in suspicion_table() for kind, text in SENTENCES.items())
