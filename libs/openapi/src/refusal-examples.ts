import {
  type AppError,
  conflict,
  forbidden,
  headersTooLarge,
  malformedParameter,
  methodNotAllowed,
  notFound,
  payloadTooLarge,
  preconditionFailed,
  rateLimited,
  requestTimeout,
  unauthenticated,
  unavailable,
  unsupportedMediaType,
  validationFailed,
} from '@recordbus/errors';

/** A refusal for each status that many operations have, as the services throw it. */
const refusals: Readonly<Record<number, AppError>> = {
  400: malformedParameter('perPage', 'must be a whole number from 1 to 1000'),
  401: unauthenticated(),
  403: forbidden("the collection's rule does not allow this"),
  404: notFound('record'),
  405: methodNotAllowed('GET, HEAD'),
  408: requestTimeout(),
  409: conflict('idempotency_key_in_use', 'the first request with this idempotency key is still running'),
  412: preconditionFailed('W/"1767225600"'),
  413: payloadTooLarge(1024 * 1024),
  415: unsupportedMediaType('application/json'),
  422: validationFailed({ email: 'is required' }),
  429: rateLimited(30),
  431: headersTooLarge(),
  503: unavailable('the records service does not answer'),
};

/** The body of a refusal with a status, as an example; undefined for statuses that few operations have. */
export const refusalExample = (status: number): unknown => refusals[status]?.toBody();
