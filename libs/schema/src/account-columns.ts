/**
 * What an auth record's row holds beside its fields (interface §2.3). None of these is a member of the record but
 * `is_anonymous`, which is shown as `anonymous`: they leave the database only to sign someone in.
 */
export const accountColumns: readonly { readonly name: string; readonly definition: string }[] = [
  // Null for an account that no password opens.
  { name: 'password_hash', definition: 'text' },
  { name: 'password_reset_at', definition: 'bigint' },
  // A token that states another version than this is no good any more.
  { name: 'token_version', definition: 'integer not null default 0' },
  { name: 'is_anonymous', definition: 'boolean not null default false' },
  { name: 'totp_secret', definition: 'text' },
  { name: 'totp_enabled', definition: 'boolean not null default false' },
  // The time step of the last code that was taken, since none is taken twice.
  { name: 'totp_last_step', definition: 'bigint' },
];
