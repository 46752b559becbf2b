"""Why a value is wrong."""
