import type { Passkey } from '@recordbus/client';

/** What an admin does with a passkey. */
export type PasskeyWork = { readonly kind: 'add' } | { readonly kind: 'rename' | 'remove'; readonly passkey: Passkey };
