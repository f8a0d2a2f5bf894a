/** Says in a few words what a JSON schema allows, and lists an object's fields for a table. */

export type JsonSchema = {
  readonly type?: string | readonly string[];
  readonly $ref?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
};

export type Field = {
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly note: string;
};

/** Fields of an object; those of an object inside it follow it as `outer.inner`. */
export function fieldsOf(schema: JsonSchema, prefix = ""): Field[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, it]) => {
    const name = `${prefix}${key}`;
    const standing = it.default === undefined ? [] : [`Default: \`${JSON.stringify(it.default)}\`.`];
    const note = [...(it.description === undefined ? [] : [`${it.description}.`]), ...standing].join(" ");
    const field = { name, type: typeText(it), required: schema.required?.includes(key) === true, note };
    return [field, ...fieldsOf(it, `${name}.`), ...fieldsOf(it.items ?? {}, `${name}[].`)];
  });
}

export function typeText(schema: JsonSchema): string {
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeText))].join(" or ");
  if (schema.const !== undefined) return code(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(code).join(", ");
  if (schema.items !== undefined) return `list of ${typeText(schema.items)}${bounds(schema.minItems, schema.maxItems)}`;
  switch (schema.type) {
    case "string":
      return `${stringText(schema)}${bounds(schema.minLength, schema.maxLength)}`;
    case "integer":
    case "number":
      return `${schema.type}${bounds(schema.minimum, schema.maximum)}`;
    case "object":
      return "object";
    case "boolean":
    case "null":
      return schema.type;
    default:
      return "any JSON";
  }
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: "UUID",
  uri: "URL",
  "date-time": "timestamp",
};

function stringText({ format, pattern }: JsonSchema): string {
  if (format !== undefined) return FORMATS[format] ?? format;
  return pattern === undefined ? "text" : `text like ${code(new RegExp(pattern, "u").source)}`;
}

/** zod bounds every integer by what a double holds exactly; that says nothing to a reader. */
function bounds(least: number | undefined, most: number | undefined): string {
  const low = least === undefined || least === Number.MIN_SAFE_INTEGER ? undefined : least;
  const high = most === undefined || most === Number.MAX_SAFE_INTEGER ? undefined : most;
  if (low === undefined && high === undefined) return "";
  if (high === undefined) return `, at least ${low}`;
  return low === undefined ? `, at most ${high}` : `, ${low} to ${high}`;
}

function code(value: unknown): string {
  return `\`${typeof value === "string" ? value : JSON.stringify(value)}\``;
}
