import type { Generated, JSONColumnType } from 'kysely';

/** The product's own tables, in schema `system`. Times are unix seconds unless the name says otherwise. */
export interface SystemTables {
  collections: CollectionsTable;
  versions: { name: string; version: number };
  admins: AdminsTable;
  instance: { key: string; value: string };
  settings: { key: string; value: string; updated_at: number };
}

interface CollectionsTable {
  id: string;
  name: string;
  type: 'base' | 'auth' | 'view';
  fields: JSONColumnType<unknown[]>;
  view_query: string | null;
  list_rule: string | null;
  view_rule: string | null;
  create_rule: string | null;
  update_rule: string | null;
  delete_rule: string | null;
  history_enabled: boolean;
  created_at: number;
  updated_at: number;
}

interface AdminsTable {
  id: string;
  email: string;
  password_hash: string;
  token_version: Generated<number>;
  created_at: number;
  updated_at: number;
}
