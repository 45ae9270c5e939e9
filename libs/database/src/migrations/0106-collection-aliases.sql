-- A second name of a collection, by which links from the system that it came from still find it.
alter table system.collections add column alias text;
create unique index collections_alias on system.collections (alias);
