/** PostgreSQL settings by name. */
export type SessionSettings = Readonly<Record<string, string>>;

/** Returns startup options that set them for a session (PostgreSQL manual, section 20.1.3). */
export const startupOptions = (settings: SessionSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${`${name}=${value}`.replaceAll(/([\\\s])/g, '\\$1')}`)
    .join(' ');

/** Returns statements that set them for a session, or for a transaction. */
export const setStatements = (settings: SessionSettings, scope: 'session' | 'transaction'): string =>
  Object.entries(settings)
    .map(([name, value]) => `set ${scope === 'session' ? '' : 'local '}${name} = '${value.replaceAll("'", "''")}'`)
    .join('; ');

/** Returns the settings for one transaction. The session's read-only mode would only apply to later transactions. */
export const transactionSettings = ({
  default_transaction_read_only: readOnly,
  ...others
}: SessionSettings): SessionSettings => ({
  ...others,
  ...(readOnly !== undefined && { transaction_read_only: readOnly }),
});
