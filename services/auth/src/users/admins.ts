import type { Query } from '@recordbus/database';
import { lookupForms } from '@recordbus/schema';

/** An admin's columns for a sign-in. */
export interface AdminAccount {
  readonly id: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly tokenVersion: number;
  /** Whether a sign-in needs a second factor. */
  readonly totpEnabled: boolean;
}

const columns =
  'id, email, password_hash as "passwordHash", token_version as "tokenVersion", totp_enabled as "totpEnabled"';

/** Whether an admin exists. */
export async function hasAdmin(query: Query): Promise<boolean> {
  return (await query({ text: 'select from system.admins limit 1', values: [] })).length > 0;
}

/** Finds a mailbox's admin, in whatever form it is written. Accepts any text. */
export async function findAdminByEmail(query: Query, email: string): Promise<AdminAccount | undefined> {
  for (const form of lookupForms(email)) {
    const [admin] = await query<AdminAccount>({
      text: `select ${columns} from system.admins where lower(email) = lower($1)`,
      values: [form],
    });
    if (admin) return admin;
  }
  return undefined;
}

/** Finds an admin by id. */
export async function findAdminById(query: Query, id: string): Promise<AdminAccount | undefined> {
  const [admin] = await query<AdminAccount>({
    text: `select ${columns} from system.admins where id = $1`,
    values: [id],
  });
  return admin;
}

/** Finds an admin and locks the row for the rest of the transaction. */
export async function lockAdmin(query: Query, id: string): Promise<AdminAccount | undefined> {
  const [admin] = await query<AdminAccount>({
    text: `select ${columns} from system.admins where id = $1 for update`,
    values: [id],
  });
  return admin;
}

/** Adds an admin. Throws a unique violation for a taken address. */
export async function insertAdmin(
  query: Query,
  admin: Omit<AdminAccount, 'totpEnabled'>,
  nowSec: number,
): Promise<void> {
  const { id, email, passwordHash, tokenVersion } = admin;
  await query({
    text: `insert into system.admins (id, email, password_hash, token_version, created_at, updated_at)
values ($1, $2, $3, $4, $5, $5)`,
    values: [id, email, passwordHash, tokenVersion, nowSec],
  });
}

/** Stores a new hash for the same password, unless the password has changed. */
export async function replacePasswordHash(query: Query, admin: AdminAccount, passwordHash: string): Promise<void> {
  await query({
    text: 'update system.admins set password_hash = $3 where id = $1 and password_hash = $2',
    values: [admin.id, admin.passwordHash, passwordHash],
  });
}
