"""Files that people write: YAML → Case, recorded data, schemas, and outputs that are whole or not there."""
