"""The second grading tier: its rows, its student, its training and what it leaves behind."""
