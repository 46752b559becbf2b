from benchmarks.race import table
from makemore_data.training.solved.race import LIMIT


def test_the_table_compares_with_the_first_and_with_the_limit() -> None:
    lines = table({"autograd": 1000.0, "tuned": 2500.0, LIMIT: 10_000.0}).splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "race: autograd 1,000 steps per second, 1.0 times autograd's, 10% of the limit",
        "race: tuned 2,500 steps per second, 2.5 times autograd's, 25% of the limit",
        f"race: {LIMIT} 10,000 steps per second, 10.0 times autograd's, 100% of the limit",
    ]
