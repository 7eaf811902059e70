"""Virtual decomposition control of one kind of drive a file: its law, its virtual power, its row in the ledger."""
