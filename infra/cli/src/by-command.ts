/** Who the audit log says has done it: the operator at the command line is no account of the product's. */
export const byCommand = { context: 'system', userAgent: 'recordbus cli' } as const;
