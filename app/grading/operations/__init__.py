"""Operations of torch, a row each: everything that is known of one is in its row, and `table` has the views of all."""
