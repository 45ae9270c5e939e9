/** Headers that are the gateway's to set, or that speak of the connection or of how the body is sent. */
const others =
  /^(access-control-.*|connection|content-encoding|content-length|date|keep-alive|ratelimit-.*|referrer-policy|trailer|transfer-encoding|upgrade|x-content-type-options|x-frame-options|x-recordbus-.*|x-request-id)$/i;

/** The headers that an extension may give an answer, of those that it gave. What it varies by comes beside the origin. */
export const headersOfReply = (given: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([name]) => !others.test(name))
      .map(([name, value]) => (name.toLowerCase() === 'vary' ? ['Vary', `Origin, ${value}`] : [name, value])),
  );
