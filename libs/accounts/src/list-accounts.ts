import type { Query } from '@recordbus/database';
import { type Collection, canonicalAddress, tableOf } from '@recordbus/schema';

/** An account as admins see it in a list (admins §8.1). */
export interface AccountRow {
  readonly id: string;
  readonly email: string;
  readonly verified: boolean;
  readonly anonymous: boolean;
  readonly second_factor: boolean;
  readonly blocked_at: number | null;
  readonly created_at: number;
  /** When a session that is still open was last used. */
  readonly last_used_at: number | null;
}

/** One account, with the ways into it (admins §8.2). */
export interface AccountDetails extends AccountRow {
  readonly has_password: boolean;
  readonly recovery_codes: number;
  readonly links: readonly { readonly provider: string; readonly created_at: number }[];
}

/** An account's select list with the alias `a`. */
const columns = `a.id, a.email, coalesce(a.verified, false) as verified, a.is_anonymous as anonymous,
  a.totp_enabled as second_factor,
  (select b.blocked_at from system.blocked_accounts b where b.account_id = a.id) as blocked_at, a.created_at,
  (select max(s.last_used_at) from system.sessions s
    where s.account_id = a.id and s.impersonated_by is null) as last_used_at`;

interface ListRequest {
  readonly page: number;
  readonly perPage: number;
  /** Part of the address, or a whole id; empty for all. */
  readonly search: string;
  readonly onlyBlocked: boolean;
}

/** Lists accounts, newest first. */
export async function listAccounts(
  query: Query,
  collection: Collection,
  { page, perPage, search, onlyBlocked }: ListRequest,
): Promise<{ readonly rows: AccountRow[]; readonly totalItems: number }> {
  // An address is found in whatever form it is written.
  const wanted = canonicalAddress(search);
  const from = `from ${tableOf(collection)} a where ($1 = '' or a.id = $1 or position(lower($1) in lower(a.email)) > 0)
    ${onlyBlocked ? 'and exists (select from system.blocked_accounts b where b.account_id = a.id)' : ''}`;
  const [counted] = await query<{ total: number }>({ text: `select count(*) as total ${from}`, values: [wanted] });
  const rows = await query<AccountRow>({
    // Selects the page first, because the skipped rows' columns would be computed too.
    text: `select ${columns} from ${tableOf(collection)} a
      join (select a.id ${from} order by a.created_at desc, a.id desc limit $2 offset $3) page on page.id = a.id
      order by a.created_at desc, a.id desc`,
    values: [wanted, perPage, (page - 1) * perPage],
  });
  return { rows, totalItems: counted?.total ?? 0 };
}

/** Reads one account; undefined if it does not exist. */
export async function findAccount(
  query: Query,
  collection: Collection,
  id: string,
): Promise<AccountDetails | undefined> {
  if (id.includes('\0')) return undefined;
  const [row] = await query<AccountDetails>({
    text: `select ${columns}, a.password_hash is not null as has_password,
        (select count(*) from system.recovery_codes r where r.account_id = a.id and r.used_at is null) as recovery_codes,
        coalesce((select json_agg(json_build_object('provider', l.provider, 'created_at', l.created_at) order by l.provider)
          from system.oauth_links l where l.account_id = a.id), '[]') as links
      from ${tableOf(collection)} a where a.id = $1`,
    values: [id],
  });
  return row;
}
