-- Version 2: stamps, which change with everything that pages show of a project, and of the farm as a
-- whole: a page need not be rendered again while its stamp is unchanged. Changes of jobs do not
-- affect stamps: jobs are always read.

ALTER TABLE farm_project ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0;
ALTER TABLE farm_total ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0;
