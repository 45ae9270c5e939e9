/** Headers that the gateway sets, or that describe the connection or the body's encoding. */
const reservedHeaders =
  /^(access-control-.*|connection|content-encoding|content-length|date|keep-alive|ratelimit-.*|referrer-policy|trailer|transfer-encoding|upgrade|x-content-type-options|x-frame-options|x-recordbus-.*|x-request-id)$/i;

/** Returns the headers that an extension may set. Its `Vary` is added to the origin's. */
export const headersOfReply = (given: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([name]) => !reservedHeaders.test(name))
      .map(([name, value]) => (name.toLowerCase() === 'vary' ? ['Vary', `Origin, ${value}`] : [name, value])),
  );
