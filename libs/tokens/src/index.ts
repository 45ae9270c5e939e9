export { createTokenExtender, type ExtendToken } from './extend-token.ts';
export { createFileTokens, type FileToken, type FileTokenMinter, type FileTokens } from './file-token.ts';
export { loadTokenSecret, replaceTokenSecret, secretFileOf } from './secret.ts';
export { createTokenSigner, type Session, type SessionPrincipal, type TokenSigner } from './session-token.ts';
export { createTickets, type Ticket, type Tickets } from './ticket.ts';
export { createTokenVerifier, type TokenVerifier } from './token-verifier.ts';
