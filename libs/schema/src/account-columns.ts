/**
 * An account's columns in addition to its fields. Records show only `is_anonymous`, as `anonymous` (records §2.3). The
 * others leave the database only for a sign-in.
 */
export const accountColumns: readonly { readonly name: string; readonly definition: string }[] = [
  // Null for an account without a password.
  { name: 'password_hash', definition: 'text' },
  { name: 'password_reset_at', definition: 'bigint' },
  // A token with another version is invalid.
  { name: 'token_version', definition: 'integer not null default 0' },
  { name: 'is_anonymous', definition: 'boolean not null default false' },
  { name: 'totp_secret', definition: 'text' },
  { name: 'totp_enabled', definition: 'boolean not null default false' },
  // The last accepted code's time step: no code is accepted twice.
  { name: 'totp_last_step', definition: 'bigint' },
];
