-- The job whose failed and pending targets this one fetches again.
ALTER TABLE job ADD COLUMN retry_of TEXT;
