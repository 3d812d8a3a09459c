"""Changes of whole contracts: renames, lists that are not known, masks, hostile schemas."""

from typing import Any

from mcplens.contracts.change_rules import RULES, rules_page
from mcplens.contracts.changes import Comparison, compare
from mcplens.contracts.contract import MASK, Contract, keyed, normalised
from mcplens.contracts.pointers import LISTS
from mcplens.contracts.versions import is_enough, next_version, version_step
from tests.docs.markdown import DOCS


def contract(*tools: dict[str, Any], **lists: Any) -> Contract:
    empty: dict[str, Any] = {kind: {} for kind in LISTS}
    return Contract(name="one", lists=empty | {"tools": keyed("tools", tools)} | lists)


def tool(name: str, description: str = "", **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return {"name": name, "description": description, "inputSchema": schema}


def rules(found: Comparison) -> list[tuple[str, str]]:
    return [(change.rule, change.pointer) for change in found.changes]


def schemas(before: Any, after: Any, *, side: str = "inputSchema") -> Comparison:
    base = {"name": "t", "inputSchema": {"type": "object"}}
    return compare(contract({**base, side: before}), contract({**base, side: after}))


def test_the_page_of_rules_is_fresh() -> None:
    page = (DOCS / "reference" / "change-rules.md").read_text()
    command = "python -m mcplens.contracts.change_rules > docs/reference/change-rules.md"
    assert rules_page() == page, f"run: {command}"


def test_a_renamed_tool_is_found_among_others_by_schema_description_and_name() -> None:
    text, number = {"type": "string"}, {"type": "integer"}
    before = contract(tool("get_user", "reads", id=text), tool("add", a=number), tool("ping"))
    after = contract(
        tool("list_users", "lists", id=text),
        tool("user_get", "reads", id=text),
        tool("sum", a=number),
        tool("pong"),
    )
    found = rules(compare(before, after))
    assert ("tool-renamed", "/tools/user_get") in found
    assert ("tool-renamed", "/tools/sum") in found
    assert ("tool-added", "/tools/list_users") in found
    # Libraries make titles of the function's name.
    titled = [
        {
            "name": name,
            "inputSchema": {
                "type": "object",
                "title": f"{name}Arguments",
                "properties": {"title": {"type": "string", "title": "Title"}},
            },
        }
        for name in ("old_name", "new_name")
    ]
    renamed = rules(compare(contract(titled[0]), contract(titled[1])))
    assert renamed[0] == ("tool-renamed", "/tools/new_name")
    assert ("title-changed", "/tools/new_name/inputSchema/title") in renamed
    # Without arguments and a description nothing tells that it is the same tool.
    assert ("tool-removed", "/tools/ping") in found


def test_capabilities_count_and_their_empty_containers_do_not() -> None:
    def offers(**capabilities: Any) -> Contract:
        return Contract(name="one", capabilities=capabilities, lists=contract().lists)

    before = offers(experimental={}, tools={"listChanged": True}, resources={"subscribe": True})
    after = offers(tools={"listChanged": False}, resources={}, extensions={"x/y": {}}, logging={})
    assert rules(compare(before, after)) == [
        ("capability-removed", "/capabilities/resources/subscribe"),
        ("list-changed-removed", "/capabilities/tools/listChanged"),
        ("capability-added", "/capabilities/extensions/x~1y"),
        ("capability-added", "/capabilities/logging"),
    ]


def test_a_list_that_one_side_does_not_know_is_not_compared() -> None:
    before = contract(tool("a"))
    after = contract(tool("a"), prompts=None, tools=None)
    found = compare(before, after)
    assert found.changes == ()
    assert found.not_compared == ("tools", "prompts")


def test_what_is_masked_on_one_side_is_no_change() -> None:
    before = contract(tool("a", token={"type": "string", "default": MASK}))
    after = contract(tool("a", token={"type": "string", "default": "x"}))
    assert compare(before, after).changes == ()
    starred = contract(tool("a", token={MASK: MASK, "***": "*"}))
    assert compare(starred, after).changes == ()


def test_a_star_of_the_servers_own_is_no_mask() -> None:
    def of(value: str) -> Contract:
        return contract(normalised(tool("a", pattern={"type": "string", "default": value})))

    (change,) = compare(of("*"), of("x")).changes
    assert change.pointer == "/tools/a/inputSchema/properties/pattern/default"


def test_a_schema_that_refers_to_itself_is_compared_in_bounded_time() -> None:
    def tree(kind: str) -> dict[str, Any]:
        members = {name: {"$ref": "#"} for name in ("left", "right", "up")}
        return {"type": "object", "properties": {**members, "value": {"type": kind}}}

    found = rules(schemas(tree("string"), tree("integer")))
    assert ("input-type-narrowed", "/tools/t/inputSchema/properties/value") in found
    assert len(found) < 200


def test_a_schema_too_deep_to_be_compared_whole_is_risky_and_not_cosmetic() -> None:
    def chain(kind: str) -> dict[str, Any]:
        links: dict[str, Any] = {
            f"A{level}": {"properties": {name: {"$ref": f"#/$defs/A{level + 1}"} for name in "abc"}}
            for level in range(40)
        }
        links["A40"] = {"type": kind}
        return {"type": "object", "properties": {"a": {"$ref": "#/$defs/A0"}}, "$defs": links}

    assert [rule for rule, _ in rules(schemas(chain("string"), chain("integer")))] == [
        "comparison-cut"
    ]


def test_alternatives_that_a_constant_tells_apart_are_compared_with_their_own_kind() -> None:
    def shape(kind: str, *required: str) -> dict[str, Any]:
        members = {"kind": {"const": kind}, "size": {"type": "integer"}}
        return {"type": "object", "properties": members, "required": ["kind", *required]}

    before = {"type": "object", "properties": {"s": {"oneOf": [shape("a"), shape("b")]}}}
    after = {"type": "object", "properties": {"s": {"oneOf": [shape("b", "size"), shape("a")]}}}
    place = "/tools/t/inputSchema/properties/s/properties/size"
    assert rules(schemas(before, after)) == [("input-required-added", place)]


def test_output_that_promises_more_breaks_nothing() -> None:
    before = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}}
    after = {
        "type": "object",
        "properties": {"n": {"type": "integer", "maximum": 5}},
        "required": ["n"],
    }
    assert schemas(before, after, side="outputSchema").verdict == "additive"
    assert schemas(after, before, side="outputSchema").verdict == "breaking"


def test_schemas_of_any_shape_are_compared_without_an_error() -> None:
    odd: list[Any] = [True, False, None, 7, [], {}, {"type": 7}, {"enum": "x"}, {"properties": [1]},
           {"required": "a"}, {"items": [{}, True]}, {"anyOf": [1, {}]}, {"$ref": "#/x"},
           {"const": 2**70}, {"minimum": "a"}, {"additionalProperties": {"type": "string"}},
           {"prefixItems": [True, {}]}, {"multipleOf": 0}]  # fmt: skip
    for one in odd:
        for other in odd:
            for side in ("inputSchema", "outputSchema"):
                found = schemas(one, other, side=side)
                assert bool(found.changes) == (one is not other), (one, other)


def test_every_rule_gives_a_reason_in_a_sentence() -> None:
    assert all(rule.reason.endswith(".") and rule.reason[0].isupper() for rule in RULES.values())


def test_the_step_of_a_version_follows_from_the_worst_class() -> None:
    assert version_step("breaking", "1.4.2") == "major"
    assert next_version("breaking", "1.4.2") == "2.0.0"
    assert next_version("breaking", "v0.4.2") == "0.5.0"
    assert next_version("risky", "1.4.2") == next_version("additive", "1.4.2") == "1.5.0"
    assert next_version("cosmetic", "1.4.2-rc1") == "1.4.3"
    assert next_version(None, "1.4.2") is None
    assert next_version("breaking", "today") is None
    assert is_enough("1.5.0", "2.0.0")
    assert not is_enough("1.5.0", "1.4.9")
