"""Measurements, side by side with the alternatives, run by hand or by ``make bench``; never part of a test."""
