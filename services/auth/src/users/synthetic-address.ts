/** The address of a user who gave none: unique, and of a domain that leads nowhere (RFC 6761 §6.4). */
export const syntheticAddress = (prefix: string, id: string): string => `${prefix}_${id}@users.invalid`;
