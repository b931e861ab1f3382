"""The answering wing: a question is answered in pipeline.py, top to bottom."""
