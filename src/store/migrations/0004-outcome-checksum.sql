-- CRC-32 of the bytes of the outcome, since SQLite does not notice when they change. None for outcomes stored before this.
ALTER TABLE target ADD COLUMN outcome_crc INTEGER;
