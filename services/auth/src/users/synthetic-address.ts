/** Returns a made-up address: unique, in a domain that never resolves (auth §1.4, RFC 6761 §6.4). */
export const syntheticAddress = (prefix: string, id: string): string => `${prefix}_${id}@users.invalid`;
