import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { at, type JsonObject, objectAt } from '../json.ts';

export const cataloguePath = '/api/v1/webhooks/events';

/** Returns a function that checks a body by the schema that the catalogue has for its event (webhooks §10.4). */
export function validatorOf(catalogue: readonly JsonObject[]): (body: JsonObject) => void {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  const byName = new Map(catalogue.map((one) => [at(one, 'name'), ajv.compile(objectAt(one, 'schema'))]));
  return (body) => {
    const isValid = byName.get(body.event);
    assert.ok(isValid, `the catalogue lacks ${body.event}`);
    assert.ok(isValid(body), `${ajv.errorsText(isValid.errors)} in ${JSON.stringify(body)}`);
  };
}
