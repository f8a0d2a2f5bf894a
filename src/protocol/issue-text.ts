/** What is wrong with a value, as the end of a sentence that begins with the value's name (HTP-13). */
import type { z } from "zod";

type Issue = z.core.$ZodIssue;

export function issueText(issue: Issue): string {
  // Ours, not the validator's.
  if (!DEFAULT_MESSAGE.test(issue.message)) return issue.message;
  switch (issue.code) {
    case "too_small":
      return `must ${amount(issue.origin, "at least", Number(issue.minimum))}`;
    case "too_big":
      return `must ${amount(issue.origin, "at most", Number(issue.maximum))}`;
    case "invalid_type":
      return issue.message.endsWith("received undefined")
        ? "is missing"
        : `must be ${TYPES[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.length > 1 ? "one of " : ""}${issue.values.map(String).join(", ")}`;
    case "invalid_format":
      return issue.format === "regex" ? "has a form that is not allowed" : `must be valid ${issue.format}`;
    case "unrecognized_keys":
      return `unknown: ${issue.keys.slice(0, 5).join(", ")}`;
    case "not_multiple_of":
    case "invalid_union":
    case "invalid_key":
    case "invalid_element":
      return "is not what is expected there";
    case "custom":
      return issue.message;
  }
}

const DEFAULT_MESSAGE = /^(?:Too (?:small|big)|Invalid|Unrecognized)/;

const TYPES: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

function amount(origin: string, limit: "at least" | "at most", count: number): string {
  const unit = { string: "character", array: "item" }[origin];
  if (unit === undefined) return `be ${limit} ${count}`;
  if (limit === "at least" && count === 1) return "not be empty";
  return `have ${limit} ${count} ${unit}${count === 1 ? "" : "s"}`;
}
