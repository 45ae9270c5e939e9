/**
 * Can mail be sent to this address? An account's address may hold characters that mean something in a header or an
 * SMTP command when they are not quoted (RFC 5322 §3.2.3): nothing is sent there, so that one address never turns into
 * two. Addresses below `.invalid` (RFC 2606) are those of accounts without one.
 */
export const isMailableAddress = (address: string): boolean =>
  address.length <= 254 && onePlainAddress.test(address) && !/\.invalid$/i.test(address);

const onePlainAddress = /^[^\s\p{C}()<>[\]:;@\\,"]{1,64}@[^\s\p{C}()<>[\]:;@\\,"]+$/u;
