export { countUnreadable } from './count-unreadable.ts';
export { type EncryptableTable, listEncryptableTables, ownSchemas } from './encryptable-columns.ts';
export { compareKey, forgetKey, isUnused, rememberKey } from './key-check.ts';
export { type Reencrypted, reencryptAll, UnreadableValues } from './reencrypt-all.ts';
export { reencryptText } from './reencrypt-text.ts';
