import type { Step } from './exchange.ts';

/** OPTIONS is answered before routing, whatever the path. */
export const answerOptions: Step = (request, response, next) => {
  if (request.method !== 'OPTIONS') {
    next();
    return;
  }
  response.writeHead(204);
  response.end();
};
