/** A service key in any text, also with its underscores encoded as in a URL (keys §1.4). The first group is public. */
const keys = /(rbk(?:_|%5f)[a-z0-9]{16})(?:_|%5f)[\w%-]{1,200}/gi;

/** Removes the secrets of service keys from a text: what is left of a key is what lists show of it. */
export const maskKeys = (text: string): string => (hasKey(text) ? text.replace(keys, '$1_***') : text);

/** Whether the text may have a service key in it. It costs a search, so it is for every line and every URL. */
const hasKey = (text: string): boolean => text.includes('rbk') || text.includes('RBK');
