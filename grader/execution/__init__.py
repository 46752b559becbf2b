"""An answer becomes values: requests, runs, the runner and the sandbox."""
