"""Encoders behind the `Encoder` port: texts to vectors."""
