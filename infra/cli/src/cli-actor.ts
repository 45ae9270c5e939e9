/** The actor in audit rows: the operator at the command line has no account. */
export const cliActor = { context: 'system', userAgent: 'recordbus cli' } as const;
