import { created, ok, type Route, route, toJsonSchema } from '@recordbus/http';
import { z } from 'zod';
import { type AuthParts, originOf } from '../auth-parts.ts';
import { beginSignIn } from '../passkeys/prove-passkey.ts';
import {
  beginUserPasskey,
  enrollPasskey,
  finishUserPasskey,
  listUserPasskeys,
  removeUserPasskey,
  renameUserPasskey,
  signInWithPasskey,
} from '../passkeys/users-passkeys.ts';
import { admitTo, admitToWay, authParams, authPath, callerIn, callerProof, holderIn } from './auth-paths.ts';
import { enrollingBody, enrollingCaller, enrollmentToken, finishedSignIn, readBody } from './enrolling-caller.ts';
import { passkeyRequests } from './passkey-requests.ts';
import {
  addingBody,
  newPasskeyBody,
  passkeyJson,
  presentPasskey,
  readNewPasskey,
  readPasskeySignIn,
} from './passkey-schemas.ts';
import { signInAnswer } from './session-schemas.ts';

const otherCollection = 'the token belongs to a user in another collection, or to an admin who acts as one';
const unproved = 'a user in another collection, an admin who acts as one, or no proof that the account is theirs';
const beginBody = addingBody.extend({ enrollment_token: enrollmentToken });
const finishBody = newPasskeyBody.extend({ enrollment_token: enrollmentToken });
const noSuchPasskey = 'no such auth collection or passkey';

/** Users' passkeys (auth §4.6). */
export const passkeyRoutes = (parts: AuthParts): Route[] => [...ownPasskeys(parts), ...signIn(parts)];

function ownPasskeys(parts: AuthParts): Route[] {
  const { collections } = parts;
  const admit = admitTo(collections);
  const passkeyParams = authParams.extend({ id: z.string() });
  return [
    route({
      method: 'GET',
      path: authPath('/passkeys'),
      access: 'user',
      scope: 'none',
      summary: "List the caller's passkeys",
      params: authParams,
      answers: { ...passkeyRequests.list.answers, 403: 'the token belongs to a user in another collection' },
      admit,
      handler: ({ params, context }) =>
        collections.serve(params.collection, async (collection) => {
          const passkeys = await listUserPasskeys(parts, collection, callerIn(collection, context).id);
          return ok(passkeys.map(presentPasskey));
        }),
    }),
    route({
      method: 'POST',
      path: authPath('/passkeys/register/options'),
      access: 'user',
      takesEnrollment: true,
      scope: 'none',
      summary: 'Get what a browser needs to make a passkey for the caller',
      params: authParams,
      ...passkeyRequests.beginAdding,
      body: enrollingBody,
      described: { body: toJsonSchema(beginBody, 'input') },
      answers: { ...passkeyRequests.beginAdding.answers, 403: unproved },
      admit: admitToWay(parts, 'passkey'),
      handler: (input) =>
        collections.serve(input.params.collection, async (collection) => {
          const caller = await enrollingCaller(parts, collection, input);
          const { old_password: oldPassword } = readBody(beginBody, input.body);
          return ok(await beginUserPasskey(parts, collection, { ...caller, oldPassword }));
        }),
    }),
    route({
      method: 'POST',
      idempotent: true,
      path: authPath('/passkeys/register/verify'),
      access: 'user',
      takesEnrollment: true,
      scope: 'none',
      action: 'auth',
      summary: 'Add the passkey that the browser made; with an enrollment token this finishes the sign-in',
      params: authParams,
      body: enrollingBody,
      described: { body: toJsonSchema(finishBody, 'input') },
      answers: {
        ...passkeyRequests.finishAdding.answers,
        201: passkeyJson.extend(finishedSignIn).meta({ id: 'AddedPasskey' }),
        403: otherCollection,
      },
      admit: admitToWay(parts, 'passkey'),
      handler: (input) =>
        collections.serve(input.params.collection, async (collection) => {
          const caller = await enrollingCaller(parts, collection, input);
          const passkey = readNewPasskey(readBody(finishBody, input.body));
          const { enrollment } = caller;
          const origin = originOf(input);
          if (!enrollment)
            return created(presentPasskey(await finishUserPasskey(parts, collection, caller, passkey, origin)));
          const added = await enrollPasskey(parts, collection, { enrollment, caller, passkey }, origin);
          return created({ ...presentPasskey(added.passkey), ...added.session });
        }),
    }),
    route({
      method: 'PATCH',
      path: authPath('/passkeys/:id'),
      access: 'user',
      scope: 'none',
      summary: "Rename one of the caller's passkeys",
      params: passkeyParams,
      ...passkeyRequests.rename,
      answers: { ...passkeyRequests.rename.answers, 403: otherCollection, 404: noSuchPasskey },
      admit,
      handler: ({ params, body, context }) =>
        collections.serve(params.collection, async (collection) => {
          const renamed = { id: params.id, name: body.name };
          const passkey = await renameUserPasskey(parts, collection, holderIn(collection, context).id, renamed);
          return ok(presentPasskey(passkey));
        }),
    }),
    route({
      method: 'DELETE',
      path: authPath('/passkeys/:id'),
      access: 'user',
      scope: 'none',
      summary: "Remove one of the caller's passkeys",
      params: passkeyParams,
      ...passkeyRequests.remove,
      answers: {
        ...passkeyRequests.remove.answers,
        403: unproved,
        404: noSuchPasskey,
        409: 'the passkey is the only way in which the caller can sign in',
      },
      admit,
      handler: (input) =>
        collections.serve(input.params.collection, async (collection) => {
          const { id } = input.params;
          await removeUserPasskey(parts, collection, callerProof(collection, input), id, originOf(input));
          return ok({ removed: id });
        }),
    }),
  ];
}

const signIn = (parts: AuthParts): Route[] => [
  route({
    method: 'POST',
    path: authPath('/passkeys/login/options'),
    access: 'public',
    scope: 'none',
    summary: 'Get what a browser needs to sign in with a passkey; it names no account',
    params: authParams,
    ...passkeyRequests.beginSignIn,
    answers: { ...passkeyRequests.beginSignIn.answers, 404: 'no such auth collection' },
    admit: admitToWay(parts, 'passkey'),
    handler: ({ params }) =>
      parts.collections.serve(params.collection, async ({ id }) => ok(await beginSignIn(parts, id))),
  }),
  route({
    method: 'POST',
    path: authPath('/passkeys/login/verify'),
    access: 'public',
    scope: 'none',
    action: 'auth',
    summary: 'Sign in with the passkey that the browser used',
    params: authParams,
    ...passkeyRequests.finishSignIn,
    answers: {
      200: signInAnswer,
      ...passkeyRequests.finishSignIn.answers,
      403: 'the account is blocked, or the sign_in_rule refuses it',
      404: 'no such auth collection',
    },
    admit: admitToWay(parts, 'passkey'),
    handler: (input) =>
      parts.collections.serve(input.params.collection, async (collection) =>
        ok(await signInWithPasskey(parts, collection, readPasskeySignIn(input.body), originOf(input))),
      ),
  }),
];
