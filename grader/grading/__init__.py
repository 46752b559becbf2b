"""Evidence beside references gives verdicts."""
