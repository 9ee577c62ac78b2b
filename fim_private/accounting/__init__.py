"""What several losses cost together: theorems of composition, and their inverses. No noise is drawn here."""
