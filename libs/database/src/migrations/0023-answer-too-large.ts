/**
 * Creates the function by which a statement fails when its answer exceeds the limit. It is volatile, so the planner never
 * calls it, and parallel safe, so a plan with it may have workers.
 */
export const statements = [
  `create function system.answer_too_large(bytes bigint) returns text language plpgsql volatile parallel safe as $$
begin
  raise exception 'the answer is too large: % bytes', bytes using errcode = 'RB001';
end
$$`,
];
