"""Text → tokens → features (pure numpy)."""
