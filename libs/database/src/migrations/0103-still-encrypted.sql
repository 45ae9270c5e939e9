-- Returns the value that a write stores in an encrypted field. A write that waited for a schema change fails if the field was
-- decrypted meanwhile: its ciphertext would look like a text.
create function system.still_encrypted(value anyelement, collection text, field text) returns anyelement
  language plpgsql volatile as $$
  begin
    if not exists (
      select from system.collections c, jsonb_array_elements(c.fields) f
      where c.id = collection and f ->> 'id' = field and (f #> '{options,encrypted}') = 'true'
    ) then
      raise exception 'the field is no longer encrypted' using errcode = 'RB003';
    end if;
    return value;
  end
$$;
