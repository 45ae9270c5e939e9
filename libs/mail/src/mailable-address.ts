/**
 * Whether mail can be sent to an address. An account's address may hold characters with a meaning in headers and SMTP
 * commands unless quoted (RFC 5322 §3.2.3); such an address gets no mail, so one address never becomes two (mail §2.6).
 * Addresses below `.invalid` (RFC 2606) are synthetic (auth §1.4).
 */
export const isMailableAddress = (address: string): boolean =>
  address.length <= 254 && onePlainAddress.test(address) && !/\.invalid$/i.test(address);

const onePlainAddress = /^[^\s\p{C}()<>[\]:;@\\,"]{1,64}@[^\s\p{C}()<>[\]:;@\\,"]+$/u;
