/** The authenticator apps of admins, in columns like those of users. */
export const statements: readonly string[] = [
  `alter table system.admins
    add column totp_secret text,
    add column totp_enabled boolean not null default false,
    add column totp_last_step bigint`,
];
