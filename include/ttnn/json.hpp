/*
 * json.hpp: what graphs are read with in C++: values of JSON that are indexed as in Python.
 *
 *	for (const auto &node : graph)
 *		if (node["node_type"] == "function_end" && node.contains("duration_ns"))
 *			std::cout << node["params"]["name"] << " " << node["duration_ns"] << "\n";
 *
 * A value becomes a text or a number where one is wanted, or by get<T>(). What is not there is
 * std::out_of_range, what is of another kind std::domain_error. It reads what the library writes,
 * which is JSON.
 */
#ifndef TTNN_JSON_HPP
#define TTNN_JSON_HPP

#include <cstdint>
#include <cstdlib>
#include <map>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace ttnn {

class Json {
	template <typename T>
	using if_number =
		std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, char>, int>;

public:
	Json() = default;
	static Json parse(const std::string &text)
	{
		const char *at = text.c_str();

		return Json(at);
	}

	bool is_null() const { return kind() == 'n'; }
	bool is_boolean() const { return kind() == 't' || kind() == 'f'; }
	bool is_string() const { return kind() == '"'; }
	bool is_array() const { return kind() == '['; }
	bool is_object() const { return kind() == '{'; }
	bool is_number() const { return kind() == '-' || (kind() >= '0' && kind() <= '9'); }

	/* As text; of lists and objects their items follow. */
	const std::string &dump() const { return raw_; }
	std::size_t size() const { return is_object() ? members_.size() : items_.size(); }
	bool empty() const { return size() == 0; }
	auto begin() const { return items_.begin(); }
	auto end() const { return items_.end(); }
	/* The values of an object by their names. */
	const std::map<std::string, Json> &members() const { return members_; }
	bool contains(const std::string &key) const { return members_.count(key) > 0; }

	const Json &operator[](const std::string &key) const { return members_.at(key); }
	const Json &operator[](const char *key) const { return members_.at(key); }
	template <typename T, if_number<T> = 0> const Json &operator[](T index) const
	{
		return items_.at(static_cast<std::size_t>(index));
	}
	const Json &operator[](const Json &index) const
	{
		return items_.at(index.get<std::size_t>());
	}

	template <typename T> T get() const
	{
		if constexpr (std::is_same_v<T, std::string>) {
			return want(is_string()), text_;
		} else if constexpr (std::is_same_v<T, bool>) {
			return want(is_boolean()), kind() == 't';
		} else if constexpr (std::is_floating_point_v<T>) {
			return want(is_number()),
			       static_cast<T>(std::strtod(raw_.c_str(), nullptr));
		} else if constexpr (std::is_signed_v<T>) {
			return want(is_number()),
			       static_cast<T>(std::strtoll(raw_.c_str(), nullptr, 10));
		} else {
			return want(is_number()),
			       static_cast<T>(std::strtoull(raw_.c_str(), nullptr, 10));
		}
	}
	operator std::string() const { return get<std::string>(); }
	template <typename T, if_number<T> = 0> operator T() const { return get<T>(); }

	friend bool operator==(const Json &a, const char *b)
	{
		return a.is_string() && a.text_ == b;
	}
	friend bool operator!=(const Json &a, const char *b) { return !(a == b); }
	friend bool operator==(const Json &a, const std::string &b) { return a == b.c_str(); }
	friend bool operator!=(const Json &a, const std::string &b) { return !(a == b); }
	template <typename T, if_number<T> = 0> friend bool operator==(const Json &a, T b)
	{
		return a.get<T>() == b;
	}
	template <typename T, if_number<T> = 0> friend bool operator!=(const Json &a, T b)
	{
		return !(a == b);
	}
	friend std::ostream &operator<<(std::ostream &out, const Json &json)
	{
		return out << json.raw_;
	}

private:
	/* Reads a value at `at`, and moves it to what follows. */
	explicit Json(const char *&at)
	{
		const char *begin = at += blanks(at);

		if (*at == '"')
			text_ = read_text(at);
		else if (*at == '[' || *at == '{')
			read_items(at);
		else
			while (*at && !std::char_traits<char>::find(",]} \n", 5, *at))
				at++;
		raw_.assign(begin, at);
	}

	static std::size_t blanks(const char *at)
	{
		std::size_t count = 0;

		while (at[count] == ' ' || at[count] == '\n')
			count++;
		return count;
	}

	void read_items(const char *&at)
	{
		const bool object = *at == '{';

		for (at += 1; *(at += blanks(at)) && *at != ']' && *at != '}'; at += *at == ',') {
			if (!object) {
				items_.push_back(Json(at));
			} else {
				std::string key = read_text(at);

				at += blanks(at) + 1; /* the colon */
				members_.emplace(std::move(key), Json(at));
			}
			at += blanks(at);
		}
		at += *at != '\0';
	}

	static std::string read_text(const char *&at)
	{
		static const char escapes[] = "n\nt\tr\rb\bf\f";
		std::string text;

		for (at++; *at && *at != '"'; at++) {
			if (*at != '\\') {
				text += *at;
			} else if (*++at == 'u') {
				add_unit(text,
					 static_cast<std::uint32_t>(std::strtoul(
						 std::string(at + 1, 4).c_str(), nullptr, 16)));
				at += 4;
			} else {
				const char *found = std::char_traits<char>::find(
					escapes, sizeof(escapes) - 1, *at);

				text += found ? found[1] : *at;
			}
		}
		at += *at == '"';
		return text;
	}

	/* UTF-8 of a unit of UTF-16; the library escapes control characters only. */
	static void add_unit(std::string &text, std::uint32_t unit)
	{
		if (unit < 0x80) {
			text += static_cast<char>(unit);
			return;
		}
		if (unit < 0x800) {
			text += static_cast<char>(0xc0 | unit >> 6);
		} else {
			text += static_cast<char>(0xe0 | unit >> 12);
			text += static_cast<char>(0x80 | (unit >> 6 & 0x3f));
		}
		text += static_cast<char>(0x80 | (unit & 0x3f));
	}

	char kind() const { return raw_.empty() ? 'n' : raw_[0]; }
	void want(bool fits) const
	{
		if (!fits)
			throw std::domain_error("ttnn::Json: " + raw_.substr(0, 60) +
						" is not of the kind that is asked for");
	}

	std::string raw_, text_;
	std::vector<Json> items_;
	std::map<std::string, Json> members_;
};

} // namespace ttnn

#endif
