"""The compiler's intermediate representation and its control flow."""
