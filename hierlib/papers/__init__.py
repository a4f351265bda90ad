"""What one paper alone needs: its constructions, constants, protocols and drawings. Only pages import from here."""
