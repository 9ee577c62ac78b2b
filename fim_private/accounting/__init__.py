"""What several losses cost together: theorems of composition, and their inversion. No noise is drawn here."""
