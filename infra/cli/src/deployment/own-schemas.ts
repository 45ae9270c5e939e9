/** Everything the product keeps stands in these; an operator's own schemas are the operator's. */
export const ownSchemas = ['system', 'records', 'history'] as const;
