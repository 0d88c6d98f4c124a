"""Features → signatures: bucket keys, filters, fingerprints, and the measures behind them (pure numpy)."""
