"""Why a hand-written backward pass is wrong, whoever wrote it, wherever it stands."""
