"""The rules that class a change of a contract: each with its id, its class and its reason.

docs/reference/change-rules.md is written from them (`python -m mcplens.contracts.change_rules`).
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

ChangeClass = Literal["breaking", "risky", "additive", "cosmetic"]
# The worst first.
CLASSES: Final[tuple[ChangeClass, ...]] = ("breaking", "risky", "additive", "cosmetic")


class ChangeRule(msgspec.Struct, frozen=True):
    """Why a change has its class."""

    id: str
    change_class: ChangeClass
    reason: str


def _rules(change_class: ChangeClass, **reasons: str) -> list[ChangeRule]:
    return [
        ChangeRule(name.replace("_", "-"), change_class, reason) for name, reason in reasons.items()
    ]


RULES: Final = {
    rule.id: rule
    for rule in [
        *_rules(
            "breaking",
            server_removed="The server is gone.",
            tool_removed="Calls of the tool fail.",
            resource_removed="Reads of the resource fail.",
            resource_template_removed="URIs of the template can no longer be read.",
            prompt_removed="Requests for the prompt fail.",
            capability_removed="Clients that use the capability are refused.",
            input_required_added="Calls without the argument worked, and now fail.",
            input_property_removed="Calls that give the argument fail, or it is ignored.",
            input_type_narrowed="Values of a type that was accepted are refused.",
            input_enum_narrowed="Values that were accepted are refused.",
            input_limit_tightened="Values that were within the limits are refused.",
            input_closed="Arguments that the schema does not name were accepted, and are refused.",
            input_condition_added="Values that do not meet the condition were accepted.",
            input_schema_broken="The input schema is no longer an object that can be read.",
            output_schema_removed="Clients that read structured results have no promise any more.",
            output_property_removed="Clients that read the member no longer find it.",
            output_required_removed="Clients that rely on the member may not find it.",
            output_type_widened="Clients meet a type that they do not expect.",
            argument_removed="Requests that give the argument fail, or it is ignored.",
            argument_required_added="Requests without the argument worked, and now fail.",
            task_support_removed="Clients that run the tool as a task are refused.",
            task_required="Clients that call the tool without a task are refused.",
        ),
        *_rules(
            "risky",
            tool_renamed="Saved calls and prompts use the old name; its schemas are the same.",
            prompt_renamed="Clients use the old name; its arguments are the same.",
            description_changed="Models choose and fill in tools by their descriptions.",
            instructions_changed="Models follow the instructions of a server.",
            annotation_flipped="Clients decide by annotations what to ask a person about.",
            default_changed="Calls that leave the argument out now mean something else.",
            output_type_narrowed="A type that clients handle no longer comes.",
            output_enum_narrowed="A value that clients may wait for no longer comes.",
            output_enum_widened="Clients meet a value that they do not know.",
            output_limit_loosened="Clients meet values beyond the limits that they know.",
            output_condition_changed="Whether clients can rely on the output cannot be decided.",
            condition_changed="Whether the same values are accepted cannot be decided.",
            comparison_cut="Whether more than the first levels changed is not known.",
            keyword_changed="Clients may act on a keyword that JSON Schema does not define.",
            format_changed="Clients and servers may check the format.",
            deprecated="The server announces that it will be removed.",
            mime_type_changed="Clients read the content by its type.",
            resource_name_changed="Clients may find a resource by its name.",
            list_changed_removed="Clients are no longer notified when the list changes.",
            revision_changed="Another protocol revision has other rules.",
            server_name_changed="Clients may recognise the server by its name.",
            extension_changed="Clients act on the metadata of an extension.",
            definition_changed="A member that mcplens does not know was changed.",
        ),
        *_rules(
            "additive",
            server_added="Nothing that worked is affected.",
            tool_added="Nothing that worked is affected.",
            resource_added="Nothing that worked is affected.",
            resource_template_added="Nothing that worked is affected.",
            prompt_added="Nothing that worked is affected.",
            capability_added="Nothing that worked is affected.",
            input_property_added="The argument can be left out.",
            input_required_removed="The argument can now be left out.",
            input_type_widened="Values of another type are accepted too.",
            input_enum_widened="More values are accepted.",
            input_limit_loosened="More values are accepted.",
            input_opened="Arguments that the schema does not name are accepted.",
            input_condition_removed="More values are accepted.",
            output_schema_added="Clients can read structured results.",
            output_property_added="Clients that do not know the member pass over it.",
            output_required_added="Clients can rely on the member.",
            output_limit_tightened="The output keeps to narrower limits.",
            argument_added="The argument can be left out.",
            argument_required_removed="The argument can now be left out.",
            task_support_added="The tool can also be run as a task.",
        ),
        *_rules(
            "cosmetic",
            title_changed="Only people read titles.",
            icons_changed="Only people see icons.",
            examples_changed="Examples promise nothing.",
            annotation_stated="It says what was the default, or no longer says it.",
            annotations_changed="Hints for display promise nothing.",
            metadata_changed="Metadata of the server's own promise nothing.",
            size_changed="The size of a resource promises nothing.",
            server_version_changed="A version alone changes nothing.",
            server_info_changed="Only people read it.",
            capability_detail_changed="The capability is there, before and after.",
            output_closed_changed="The members that the schema names stay the same.",
            form_changed="It is written in another way and means the same.",
        ),
    ]
}


def rules_page() -> str:
    """The page of all rules as Markdown."""
    lines = [
        "<!-- Written by `python -m mcplens.contracts.change_rules`; change the rules, not this "
        "page. -->",
        "# Rules for changes of a contract",
        "",
        "`mcplens diff` and `mcplens lock --check` class each change by one of these rules. The "
        "worst class decides the verdict, and the step that a version after "
        "[Semantic Versioning](https://semver.org/) means: breaking is a major version (a minor "
        "one below 1.0), risky and additive are a minor version, cosmetic is a patch.",
    ]
    for change_class in CLASSES:
        lines += ["", f"## {change_class}", "", "| Rule | Reason |", "|---|---|"]
        lines += [
            f"| `{rule.id}` | {rule.reason} |"
            for rule in RULES.values()
            if rule.change_class == change_class
        ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import sys

    sys.stdout.write(rules_page())
