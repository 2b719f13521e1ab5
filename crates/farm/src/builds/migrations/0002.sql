-- Version 2: stamps, which change with whatever pages show of a project, and of the farm as a whole: a page need not be made again while its stamp stands.
-- What jobs do changes none: it is looked at as it is.

ALTER TABLE farm_project ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0;
ALTER TABLE farm_total ADD COLUMN stamp INTEGER NOT NULL DEFAULT 0;
