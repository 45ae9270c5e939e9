-- What a collection does with old records (`{days, field, action}`; the field's id, or `created_at` or `updated_at`) and with old
-- versions (`{days, versions}`); null keeps them. The admin service writes both, the records service's crons read them.
alter table system.collections add column retain jsonb;
alter table system.collections add column history_keep jsonb;
